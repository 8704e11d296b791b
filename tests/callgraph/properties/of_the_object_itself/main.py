class A:
    @property
    def name(self):
        return "a"
    def show(self):
        print(self.name)
A().show()
