import fs from 'node:fs'
import { expect, onTestFinished, test, vi } from 'vitest'
import { folder } from '../../../test/support/disk-emulator.ts'
import { nodeFiles } from './files.ts'

test('D3 a file that the disk fails to close is closed all the same', () => {
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

test('closing what is not open is a defect', () => {
  const file = nodeFiles.open(`${folder(onTestFinished)}/a`, 'wx')
  nodeFiles.close(file)
  expect(() => nodeFiles.close(file)).toThrow('EBADF')
})
