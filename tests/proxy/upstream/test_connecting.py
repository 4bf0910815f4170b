"""Where no connection comes about, nothing was sent and nothing can have cost."""

import ssl
from pathlib import Path

from tests.fake_upstream import FakeUpstream, script_answer
from tests.proxy.upstream.single_attempt import CALL, CollectingSink, make_upstream


async def test_refused_connection_is_certain_to_have_cost_nothing() -> None:
    model = make_upstream("http://127.0.0.1:9")
    ending = await model.run(CALL, CollectingSink())
    await model.aclose()
    assert (ending.finish, ending.was_sent, ending.was_silent) == ("failed", False, False)


async def test_an_unknown_host_is_certain_to_have_cost_nothing() -> None:
    model = make_upstream("http://nowhere.invalid")
    ending = await model.run(CALL, CollectingSink())
    await model.aclose()
    assert (ending.finish, ending.was_sent) == ("failed", False)


async def test_a_tls_error_sends_nothing() -> None:
    """The fake speaks plain HTTP where TLS is expected."""
    async with FakeUpstream(script_answer("Yes.")) as fake:
        model = make_upstream(fake.url.replace("http:", "https:"), connect_s=1)
        ending = await model.run(CALL, CollectingSink())
        await model.aclose()
    assert (ending.finish, ending.was_sent, fake.calls) == ("failed", False, [])


async def test_a_certificate_of_unknown_issue_sends_nothing(tmp_path: Path) -> None:
    """The body, with the documents in it, goes to nobody who cannot prove the name."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*write_certificate(tmp_path))
    async with FakeUpstream(script_answer("Yes."), tls=context) as fake:
        model = make_upstream(fake.url)
        ending = await model.run(CALL, CollectingSink())
        await model.aclose()
    assert (ending.finish, ending.was_sent, fake.calls) == ("failed", False, [])


def write_certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate that nobody vouches for, and its key."""
    from datetime import UTC, datetime, timedelta

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    paths = folder / "certificate.pem", folder / "key.pem"
    paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return paths
