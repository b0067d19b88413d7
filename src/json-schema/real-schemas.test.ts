import { expect, test } from 'vitest'
import { NOW, object, outputOf, seeded } from '../../test/support/output-schemas.ts'
import { REAL_SCHEMAS } from '../../test/support/real-schemas.ts'
import type { JsonObject } from '../core/json.ts'
import { PLACES } from './hints.ts'
import { outputsOf } from './outputs.ts'

function* outputsFor(...titles: readonly string[]) {
  for (const title of titles) {
    const [outputs, chance] = [outputsOf(REAL_SCHEMAS[title] ?? {}), seeded(7)]
    for (let n = 0; n < 40; n++) yield outputOf(outputs, chance) ?? {}
  }
}

/** The instant of a date in any form that the schemas have. */
function instantOf(text: unknown): number {
  const date = String(text)
    .replace(/^(\d{2})[./](\d{2})[./](\d{4})$/, '$3-$2-$1')
    .replace(/^(\d{4})(\d{2})(\d{2})$/, '$1-$2-$3')
  return Date.parse(date)
}

test('a date with a pattern is a date near now, in the form of the pattern', () => {
  const pydantic = ['pydantic payment', 'pydantic order']
  const written = ['written invoice', 'written letter', 'written meter']
  for (const output of outputsFor(...pydantic, 'zod invoice', 'zod contract', ...written)) {
    const dates = Object.entries(output).filter(([name]) => /date|_on$|month/i.test(name))
    expect(dates.length).toBeGreaterThan(0)
    for (const [name, text] of dates)
      expect(Math.abs(instantOf(text) - NOW), `${name} ${text}`).toBeLessThan(400 * 86_400_000)
  }
})

test.for([
  ['pydantic contract', 'start_date', 'end_date'],
  ['pydantic lease', 'valid_from', 'valid_until'],
  ['pydantic order', 'order_date', 'delivery_date'],
  ['pydantic timesheet', 'start_time', 'end_time'],
  ['pydantic invoice', 'tax_amount', 'subtotal'],
  ['pydantic invoice', 'subtotal', 'total_amount'],
  ['zod invoice', 'netAmount', 'grossAmount'],
  ['zod contract', 'effectiveDate', 'expirationDate'],
  ['zod booking', 'checkIn', 'checkOut'],
  ['zod shipment', 'departureDate', 'arrivalDate'],
  ['zod range', 'minSalary', 'maxSalary'],
  ['zod statement', 'periodStart', 'periodEnd'],
  ['written contract', 'start', 'end'],
  ['written policy', 'from', 'to'],
  ['written claim', 'opened_at', 'closed_at'],
] as const)('%s: %s is not after %s', ([title, first, last]) => {
  for (const output of outputsFor(title)) {
    const [from, to] = [output[first], output[last]]
    expect(from === to || (from as string) < (to as string), `${from} ${to}`).toBe(true)
  }
})

test('formats of generators of schemas have values of their kind', () => {
  for (const { id, network, host } of outputsFor('pydantic invoice', 'pydantic network')) {
    if (id !== undefined)
      expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    if (network !== undefined)
      expect([network, host]).toEqual([expect.stringMatching(/\/\d\d$/), expect.any(String)])
  }
  for (const { id, phone } of outputsFor('zod token', 'zod contact'))
    expect(id ?? phone).toMatch(/^(01[\dA-Z]{24}|\+\d{6,15})$/)
})

const csharp = (properties: JsonObject) => object(properties, { required: Object.keys(properties) })
const TEXT = { type: 'string' }
const NUMBER = { type: 'number', format: 'decimal' }

test.for([
  ['ContractId', { type: 'string', format: 'guid' }, /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/],
  ['PostalCode', TEXT, /^\d{5}$/],
  ['Scale', TEXT, /^1:\d+$/],
  ['SheetSize', TEXT, /^A[1-4]$/],
  ['Revision', TEXT, /^[A-D]$/],
  ['BankAccount', TEXT, /^\d{10}$/],
  ['CheckedBy', TEXT, /^[A-Z]\S* [A-Z]/],
  ['Inspector', TEXT, /^[A-Z]\S* [A-Z]/],
  ['ShipTo', TEXT, /\d+ .+, \d{5} /],
  ['IncoTerms', TEXT, /^[A-Z]{3}$/],
  ['TemperatureCelsius', NUMBER, /^-?[0-4]?\d(?:\.\d)?$/],
  ['ToleranceMm', NUMBER, /^0\.\d\d?$/],
] as const)('a property %s of C# has a value that fits its name', ([name, schema, pattern]) => {
  const [outputs, chance] = [outputsOf(csharp({ [name]: schema })), seeded(7)]
  for (let n = 0; n < 20; n++) expect(String(outputOf(outputs, chance)?.[name])).toMatch(pattern)
})

test('a contract of C# does not end before it begins, and the next inspection is not in the past', () => {
  const date = { type: 'string', format: 'date' }
  const schema = csharp({ EffectiveDate: date, TerminationDate: date, NextInspectionDate: date })
  const [outputs, chance] = [outputsOf(schema), seeded(7)]
  for (let n = 0; n < 40; n++) {
    const output = (outputOf(outputs, chance) ?? {}) as Record<string, string>
    expect(String(output.EffectiveDate) <= String(output.TerminationDate)).toBe(true)
    expect(instantOf(output.NextInspectionDate)).toBeGreaterThan(NOW)
  }
})

const cents = (value: number) => Math.round(value * 100) / 100

test('amounts of one object add up', () => {
  for (const { subtotal, tax_amount, total_amount } of outputsFor('pydantic invoice'))
    expect(total_amount).toBe(cents(Number(subtotal) + Number(tax_amount)))
  for (const { netAmount, grossAmount } of outputsFor('zod invoice'))
    expect(grossAmount).toBe(cents(Number(netAmount) + cents(Number(netAmount) * 0.19)))
  for (const { amount, items } of outputsFor('written receipt'))
    expect(amount).toBe(cents((items as { price: number }[]).reduce((sum, { price }) => sum + price, 0)))
})

test.for<[title: string, read: (output: JsonObject) => unknown, expected: unknown]>([
  ['written claim', ({ status }) => status, 'closed'],
  ['written meter', ({ unit }) => unit, 'kWh'],
  ['zod contact', ({ country }) => country, 'US'],
  ['zod contact', (place) => PLACES.find(({ city }) => city === place.city)?.zip === place.postalCode, true],
  ['zod receipt', ({ total }) => Number(total) < 300, true],
  ['pydantic receipt', ({ total }) => Number(total) < 300, true],
  ['pydantic receipt', ({ payment_method }) => /^(card|cash)$/.test(String(payment_method)), true],
  ['zod token', ({ slug }) => /^[a-z]+-[a-z]+$/.test(String(slug)), true],
  ['pydantic person', ({ email }) => /^[a-z]+(\.[a-z]+)+@example\.com$/.test(String(email)), true],
  ['pydantic payment', ({ bic, iban }) => String(bic).slice(4, 6) === String(iban).slice(0, 2), true],
  ['pydantic payment', ({ bic }) => /^[A-Z]{6}[A-Z2-9][A-NP-Z\d]([A-Z\d]{3})?$/.test(String(bic)), true],
  ['pydantic timesheet', ({ hours }) => Number(hours) > 0 && Number(hours) < 13, true],
])('%s: a value agrees with the others of its object', ([title, read, expected]) => {
  for (const output of outputsFor(title)) expect(read(output), JSON.stringify(output)).toBe(expected)
})

test('a value that should agree with others stays as it is where the schema forbids the other value', () => {
  const schema = csharp({ netAmount: { type: 'number' }, grossAmount: { type: 'number', maximum: 40 } })
  const output = outputOf(outputsOf(schema), seeded(7)) ?? {}
  expect(output.grossAmount).toBeLessThanOrEqual(40)
})
