class Manager:
    def __enter__(self):
        return Inner()
    def __exit__(self, *error):
        pass
class Inner:
    def f(self):
        pass
def run():
    with Manager() as inner:
        inner.f()
run()
