import fs from 'node:fs'
import { expect, onTestFinished, test, vi } from 'vitest'
import { folder } from '../../../test/support/disk-emulator.ts'
import { nodeFiles } from './files.ts'

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
