def f():
    _g()
def _g():
    pass
