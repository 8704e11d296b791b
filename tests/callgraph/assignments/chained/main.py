def f():
    pass
def g():
    pass
a = b = f
b()
a = g
a()
