def f():
    pass
if (g := f):
    g()
