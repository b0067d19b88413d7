import fc from 'fast-check'
import { expect, test } from 'vitest'
import { forAll } from '../../test/support/for-all.ts'
import { isMasked, REDACTED, withoutSecret, withSecrets } from './secrets.ts'
import { hasMask, maskedDocument, unmaskedDocument } from './state/masked.ts'
import type { Document } from './state/state.ts'

const secret = fc.option(fc.string())
const item = fc.record(
  { id: fc.string(), secret, inner: fc.record({ secret, other: fc.string() }), n: fc.nat() },
  { requiredKeys: ['id'] },
)
const value = fc.record({
  one: item,
  many: fc.uniqueArray(item, { selector: ({ id }) => id }),
  bare: fc.array(fc.oneof(fc.string(), fc.nat(), fc.constant(null))),
})

test('the masks of a value are replaced by its own secrets, with any contents and any order of items', () =>
  forAll(value, (stored) => {
    const shown = withoutSecret(stored)
    const strings = JSON.stringify(stored).match(/"secret":"/g)?.length ?? 0
    expect(JSON.stringify(shown).match(/"secret":"\(redacted\)"/g)?.length ?? 0).toBe(strings)
    expect(isMasked(shown)).toBe(strings > 0)
    expect(withSecrets(shown, stored)).toEqual(stored)
    const turned = { ...shown, many: [...shown.many].reverse() }
    expect(withSecrets(turned, stored).many).toEqual([...stored.many].reverse())
  }))

test('a mask without a stored secret stays, and a given secret is never replaced', () => {
  const masked = { id: 'a', secret: REDACTED }
  expect(withSecrets([masked], [{ id: 'b', secret: 's' }])).toEqual([masked])
  expect(withSecrets([masked], [{ id: 'a', secret: null }])).toEqual([masked])
  expect(withSecrets([{ secret: REDACTED }], [{ secret: 's' }])).toEqual([{ secret: REDACTED }])
  const given = { id: 'a', secret: 'new' }
  expect(withSecrets(given, { id: 'a', secret: 's' })).toEqual(given)
  const odd = JSON.parse('{"__proto__": {"secret": "(redacted)"}}')
  expect(JSON.stringify(withSecrets(odd, {}))).toBe(JSON.stringify(odd))
})

test('secrets that sign webhooks are masked, also in the settings of a scenario; others are not', () => {
  const chosen = { header: 'X-S', secret: 's-scenario' }
  const document = {
    settings: { 'webhooks.signature': chosen },
    collections: { agents: [{ id: 'a', secret: 'of an agent' }] },
    scenario: {
      name: 'signed',
      settings: [{ key: 'webhooks.signature', value: chosen, before: { ...chosen, secret: 's-before' } }],
      stubs: [{ body: { secret: 'of a stub' } }],
    },
  } as unknown as Document
  const masked = maskedDocument(document)
  const text = JSON.stringify(masked)
  expect([text.includes('s-scenario'), text.includes('s-before')]).toEqual([false, false])
  expect([text.includes('of an agent'), text.includes('of a stub')]).toEqual([true, true])
  expect([hasMask(masked), hasMask(document)]).toEqual([true, false])
  expect(unmaskedDocument(masked, () => document)).toEqual(document)
})

const NO_DOCUMENTS = [null, 'text', [[]], {}, { collections: 5, settings: null, scenario: [] }]

test.for(NO_DOCUMENTS)('a value that is no document does not change: %j', (raw) => {
  const never = () => {
    throw new Error('there is no mask to look up')
  }
  expect(unmaskedDocument(raw, never)).toBe(raw)
})
