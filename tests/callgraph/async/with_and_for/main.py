import asyncio
class Manager:
    async def __aenter__(self):
        return self
    async def __aexit__(self, *error):
        pass
    def use(self):
        pass
class Items:
    def __init__(self):
        self.left = 1
    def __aiter__(self):
        return self
    async def __anext__(self):
        if not self.left:
            raise StopAsyncIteration
        self.left = 0
        return f
def f():
    pass
async def main():
    async with Manager() as manager:
        manager.use()
    async for item in Items():
        item()
asyncio.run(main())
