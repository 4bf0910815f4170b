"""Everything that can go wrong, on one page.

    FiadorError
    ├── ConfigError      the configuration cannot be used            exit 2
    ├── RequestError     the client's request cannot be served       4xx
    ├── AuthError        no or a wrong credential                    401/403
    ├── LimitError       too many requests                           429
    ├── BusyError        nothing can be answered now                 503
    └── StoreError       one of our own stores failed                503

A refusal is no error: it is a value (`guards`, `ledger`) and ends as ordinary assistant text.
"""


class FiadorError(Exception):
    """Base. `status`, `code` and `text` are safe to show; `detail` is for the log alone.

    `kind` is the `type` of OpenAI's envelope, `param` the field of the request at fault.
    """

    status = 500
    code = "internal_error"
    kind = "server_error"

    def __init__(self, text: str, *, code: str = "", param: str | None = None, detail: str = ""):
        super().__init__(text)
        self.text = text
        self.code = code or type(self).code
        self.param = param
        self.detail = detail


class ConfigError(FiadorError):
    """`faults`: one line each, `file: path: want …, got …`; all of them at once."""

    code = "config"

    def __init__(self, *faults: str):
        super().__init__("\n".join(faults))
        self.faults = faults


class RequestError(FiadorError):
    status = 400
    code = "invalid_request"
    kind = "invalid_request_error"

    def __init__(
        self,
        text: str,
        *,
        code: str = "",
        param: str | None = None,
        status: int = 400,
        detail: str = "",
    ):
        super().__init__(text, code=code, param=param, detail=detail)
        self.status = status


class AuthError(FiadorError):
    status = 401
    code = "invalid_api_key"
    kind = "authentication_error"

    def __init__(self, text: str, *, status: int = 401, code: str = "", detail: str = ""):
        super().__init__(text, code=code, detail=detail)
        self.status = status


class LimitError(FiadorError):
    """`limit` names which one; `retry_after_s` goes out as `Retry-After`."""

    status = 429
    code = "rate_limit_exceeded"
    kind = "rate_limit_error"

    def __init__(self, text: str, *, limit: str, retry_after_s: float):
        super().__init__(text)
        self.limit = limit
        self.retry_after_s = retry_after_s


class BusyError(FiadorError):
    status = 503
    code = "overloaded"

    def __init__(self, text: str, *, retry_after_s: float = 1, code: str = "", detail: str = ""):
        super().__init__(text, code=code, detail=detail)
        self.retry_after_s = retry_after_s


class StoreError(FiadorError):
    status = 503
    code = "store_unavailable"
