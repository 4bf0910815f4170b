"""HTTP in and out: routes, bodies, replies, overload, uvicorn's protocol with our patience."""
