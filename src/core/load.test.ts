import { expect, test } from 'vitest'
import { load, loaded } from './load.ts'
import { once } from './once.ts'

test('a package that cannot be loaded is refused in one line, with the way out', async () => {
  const message = expect.stringMatching(/^A part .* 'no-package'\)\. Nothing/)
  const refused = { code: 'service_unavailable', message }
  expect(() => load('no-package')).toThrow(expect.objectContaining(refused))
  await expect(loaded(import('no-package' as string))).rejects.toMatchObject({ code: 'service_unavailable' })
  expect(load('zod')).toHaveProperty('object')
})

test('what could not be loaded is loaded by the next call, and then once', async () => {
  let calls = 0
  const value = once(async () => {
    calls += 1
    if (calls === 1) throw new Error('no descriptor')
    return calls
  })
  await expect(value()).rejects.toThrow('no descriptor')
  expect([await value(), await value()]).toEqual([2, 2])
})
