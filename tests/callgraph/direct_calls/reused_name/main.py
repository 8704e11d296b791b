def f():
    pass
def g():
    pass
h = f
h()
h = g
