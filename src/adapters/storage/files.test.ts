import fs, { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { folder } from '../../../test/support/disk-emulator.ts'
import { guardedFiles, nodeFiles } from './files.ts'

test('D3 a disk error while a file is closed is ignored', () => {
  const file = nodeFiles.open(`${folder(onTestFinished)}/a`, 'wx')
  const closing = vi.spyOn(fs, 'closeSync').mockImplementation(() => {
    throw Object.assign(new Error('EIO: close'), { code: 'EIO' })
  })
  onTestFinished(() => {
    closing.mockRestore()
    fs.closeSync(file)
  })
  nodeFiles.close(file)
  expect(closing).toHaveBeenCalledExactlyOnceWith(file)
})

test('closing a file that is not open throws', () => {
  const file = nodeFiles.open(`${folder(onTestFinished)}/a`, 'wx')
  nodeFiles.close(file)
  expect(() => nodeFiles.close(file)).toThrow('EBADF')
})

test('a file that has more bytes than a text can have is named before it is read', () => {
  const file = join(folder(onTestFinished), 'file')
  writeFileSync(file, 'content')
  // Without blocks on the disk.
  fs.truncateSync(file, 3_000_000_000)
  expect(() => nodeFiles.read(file)).toThrow(
    'is a file of 3000000000 bytes, and the emulator needs one of at most',
  )
})

test('a file where a directory is needed is named, with the fix', () => {
  const file = join(folder(onTestFinished), 'snapshots')
  writeFileSync(file, '')
  const refusal = `${file} is a file, and the emulator needs a directory there. Move it away, for example with`
  expect(() => nodeFiles.list(file)).toThrow(refusal)
  expect(() => nodeFiles.stat(join(file, 'default/base.json'))).toThrow(refusal)
})

test('after the loss of the lock, operations that write throw and operations that read still work', () => {
  const file = join(folder(onTestFinished), 'file')
  writeFileSync(file, 'content')
  const files = guardedFiles(nodeFiles, () => {
    throw new Error('lost')
  })
  const writes: readonly (() => unknown)[] = [
    () => files.open(file, 'r+'),
    () => files.open(`${file}.new`, 'wx'),
    () => files.write(0, Buffer.from('x'), 0),
    () => files.truncate(0, 0),
    () => files.rename(file, `${file}.new`),
    () => files.remove(file),
    () => files.makeDirectory(`${file}.new`),
    () => files.removeDirectory(join(file, '..')),
  ]
  for (const write of writes) expect(write).toThrow('lost')
  expect(readdirSync(join(file, '..'))).toEqual(['file'])
  const open = files.open(file, 'r')
  expect(files.readInto(open, Buffer.alloc(7), 0)).toBe(7)
  files.close(open)
  expect(files.read(file)?.toString()).toBe('content')
})
