class A:
    def f(self):
        pass
def patched(self):
    self.f()
A.patched = patched
A().patched()
