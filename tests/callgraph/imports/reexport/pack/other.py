def g():
    pass
