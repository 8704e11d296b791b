def f():
    pass
def g():
    return 1
    f()
g()
