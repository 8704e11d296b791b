def log(f):
    def wrapper(self):
        return f(self)
    return wrapper
class A:
    @log
    def run(self):
        self.step()
    def step(self):
        pass
A().run()
