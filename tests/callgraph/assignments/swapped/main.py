def f():
    pass
def g():
    pass
a, b = f, g
a, b = b, a
a()
