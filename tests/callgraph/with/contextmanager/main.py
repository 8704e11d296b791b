import contextlib
@contextlib.contextmanager
def manager():
    yield f
def f():
    pass
with manager() as task:
    task()
