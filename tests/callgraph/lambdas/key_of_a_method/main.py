class A:
    def size(self):
        return 1
def biggest(items):
    return max(items, key=lambda item: item.size())
biggest([A()])
