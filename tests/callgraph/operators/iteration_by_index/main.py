class Items:
    def __getitem__(self, index):
        if index > 0:
            raise IndexError
        return f
    def __len__(self):
        return 1
def f():
    pass
def run():
    for task in Items():
        task()
run()
