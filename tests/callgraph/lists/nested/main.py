def f():
    pass
def g():
    pass
rows = [[f], [g]]
rows[1][0]()
