__all__ = ["Thing"]
__all__ += ["Other"]
class Thing:
    def f(self):
        return Other()
class Other:
    def __init__(self):
        pass
