MODELS = {}
def register(name):
    def decorator(cls):
        MODELS[name] = cls
        return cls
    return decorator
@register("a")
class A:
    def __init__(self):
        pass
    def run(self):
        pass
def build(name):
    return MODELS[name]()
build("a").run()
