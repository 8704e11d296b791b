def f():
    pass
def g():
    pass
def inner(one, two):
    two()
def outer(*args):
    inner(*args)
outer(f, g)
