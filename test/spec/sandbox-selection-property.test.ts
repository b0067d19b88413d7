import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NAME_PATTERN } from '../../src/core/sandboxes/name.ts'
import { testEmulator } from '../support/emulator.ts'
import { send } from '../support/send.ts'

const name = fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,62}$/)
// Characters that a header can contain.
const anything = fc.string({
  unit: fc.constantFrom(...'\t !"#%,./:;@AZ_az09-~\u0080\u00e9\u00ff'),
  maxLength: 80,
})
const spoiled = fc
  .tuple(name, anything, name)
  .map(([before, between, after]) => `${before}${between}${after}`)

test('any header value either selects the sandbox of that name, or is refused and changes nothing', async () => {
  const emulator = await testEmulator()
  const { sandboxes } = emulator.emulator
  await fc.assert(
    fc.asyncProperty(fc.oneof(name, spoiled, anything), async (value) => {
      const [before, count] = [emulator.digest(), sandboxes.list().length]
      // Whitespace around a value is not part of it (RFC 9110, section 5.5).
      const said = value.replace(/^[\t ]+|[\t ]+$/g, '')
      const known = sandboxes.get(said) !== undefined
      const response = await send(emulator, 'POST', '/v1/pages', {
        headers: { 'X-Emulator-Sandbox': value },
        json: { name: 'x' },
      })
      if (NAME_PATTERN.test(said)) {
        expect(response.status).toBe(200)
        expect(sandboxes.get(said)?.store.rows('pages').has(response.body.id)).toBe(true)
        expect(sandboxes.list().length).toBe(known ? count : count + 1)
      } else {
        expect([response.status, response.body.error]).toEqual([400, 'bad_request'])
        expect(sandboxes.list().length).toBe(count)
      }
      if (said !== 'default') expect(emulator.digest()).toBe(before)
    }),
    { numRuns: 200, seed: 7 },
  )
})
