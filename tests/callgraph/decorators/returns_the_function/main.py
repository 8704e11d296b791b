registry = []
def register(f):
    registry.append(f)
    return f
@register
def work():
    pass
def main():
    work()
    for task in registry:
        task()
main()
