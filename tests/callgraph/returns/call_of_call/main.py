def f():
    pass
def one():
    return two()
def two():
    return f
one()()
