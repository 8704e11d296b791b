def f():
    pass
def make():
    return lambda: f()
make()()
