def f():
    pass
def g():
    pass
a, (b, *c) = f, (g, f)
b()
