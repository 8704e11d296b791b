def f():
    return g
def g():
    pass
h = f
h()()
