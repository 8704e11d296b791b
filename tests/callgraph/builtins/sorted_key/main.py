def key(item):
    return item
def by(item):
    return item
sorted([1, 2], key=key)
max([1, 2], key=by)
