class Layer:
    def run(self):
        pass
class Net:
    def __init__(self):
        self.layers = [Layer() for _ in range(2)]
        self.named = {}
        self.named["x"] = Layer()
    def run(self):
        for layer in self.layers:
            layer.run()
        for name in self.named:
            self.named[name].run()
Net().run()
