__all__ = ["f"]
def f():
    pass
def hidden():
    pass
