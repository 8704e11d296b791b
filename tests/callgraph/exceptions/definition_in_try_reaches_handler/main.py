def f():
    raise ValueError
def g():
    pass
h = f
try:
    h = g
    f()
except ValueError:
    h()
