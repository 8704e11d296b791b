def f():
    pass
def a():
    f()
def f():
    pass
a()
