def f():
    pass
def inner():
    yield f
def outer():
    yield from inner()
for task in outer():
    task()
