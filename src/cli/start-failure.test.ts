import { expect, test } from 'vitest'
import { Refusal } from '../core/errors.ts'
import { startFailure } from '../terminal/launch.ts'

const DOCTOR = ' Run "workspace-emulator doctor" to find the problem.'

test('a failure of the file system leads to doctor, whether Node or the emulator reports it', async () => {
  const system = Object.assign(new Error('EMFILE: too many open files, open'), { syscall: 'open' })
  expect(await startFailure(system)).toBe(`EMFILE: too many open files, open.${DOCTOR}`)
  const refusal = new Refusal('storage_unavailable', {
    detail: 'The lock of the data folder cannot be checked: EMFILE.',
  })
  expect(await startFailure(refusal)).toBe(`The lock of the data folder cannot be checked: EMFILE.${DOCTOR}`)
})

test('an error of a kind that only a defect throws is reported as a defect', async () => {
  expect(await startFailure(new TypeError('x is not a function'))).toMatch(
    /^The emulator failed to start\. This is a defect/,
  )
})
