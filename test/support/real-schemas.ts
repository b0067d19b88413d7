import type { JsonObject } from '../../src/core/json.ts'

/** Fields by name: a schema, or the format of a text; an empty one for a text without a format. */
type Fields = Readonly<Record<string, object | string>>

const n = (more: object = {}) => ({ type: 'number', ...more })
const i = (more: object = {}) => ({ type: 'integer', ...more })
const like = (pattern: string) => ({ type: 'string', pattern })
const about = (description: string, more: object = {}) => ({ type: 'string', description, ...more })
const amount = n({ minimum: 0 })
const DATE = like('^\\d{4}-\\d{2}-\\d{2}$')

function schemas(fields: Fields): [name: string, schema: object][] {
  return Object.entries(fields).map(([name, each]) => {
    if (typeof each !== 'string') return [name, each]
    return [name, each === '' ? { type: 'string' } : { type: 'string', format: each }]
  })
}

/** As people write a schema: descriptions, few keywords. */
const written = (fields: Fields) =>
  ({
    type: 'object',
    properties: Object.fromEntries(schemas(fields)),
    required: Object.keys(fields),
  }) as JsonObject

/** As zod-to-json-schema writes an object: camelCase, no further properties. */
const zod = (fields: Fields): JsonObject => ({ ...written(fields), additionalProperties: false })

/** As pydantic writes a model: a title for each field, snake_case, its own formats. */
const pydantic = (fields: Fields): JsonObject => {
  const titled = schemas(fields).map(([name, schema]) => {
    const title = name.replaceAll('_', ' ').replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase())
    return [name, { title, ...schema }]
  })
  return { ...written(fields), properties: Object.fromEntries(titled), title: 'Model' }
}

/** Schemas of documents as three generators write them, by a title. */
export const REAL_SCHEMAS: Readonly<Record<string, JsonObject>> = {
  'pydantic invoice': pydantic({
    ...{ id: 'uuid4', invoice_number: '', invoice_date: 'date', due_date: 'date', vendor_name: '' },
    ...{ subtotal: amount, tax_amount: amount, total_amount: amount, currency: like('^[A-Z]{3}$') },
  }),
  'pydantic receipt': pydantic({
    ...{ merchant: '', purchased_at: 'date-time', total: like('^(?!^[-+.]*$)[+-]?0*\\d*\\.?\\d*$') },
    ...{ payment_method: '', items_count: i({ exclusiveMinimum: 0 }) },
  }),
  'pydantic contract': pydantic({
    ...{ contract_id: 'uuid7', client: '', start_date: 'date', end_date: 'date', value: n(), signed_by: '' },
  }),
  'pydantic payment': pydantic({
    iban: { type: 'string', minLength: 15, maxLength: 34 },
    ...{ bic: '', amount: n({ multipleOf: 0.01, minimum: 0 }), executed_on: DATE, reference: '' },
  }),
  'pydantic lease': pydantic({
    ...{ tenant: '', landlord: '', valid_from: 'date', valid_until: 'date', monthly_rent: amount },
  }),
  'pydantic person': pydantic({
    ...{ first_name: '', last_name: '', email: 'email', birth_date: 'date', phone: 'phone' },
  }),
  'pydantic network': pydantic({
    ...{ host: 'ipv4', network: 'ipv4network', file: 'file-path', contact: 'name-email' },
  }),
  'pydantic order': pydantic({
    ...{ order_id: 'uuid1', order_date: DATE, delivery_date: DATE, customer: '' },
    ...{ quantity: i({ minimum: 1 }), unit_price: amount },
  }),
  'pydantic timesheet': pydantic({
    employee: '',
    start_time: 'time',
    end_time: 'time',
    hours: n({ minimum: 0, maximum: 24 }),
    project: '',
  }),
  'zod invoice': zod({
    invoiceNumber: { type: 'string', minLength: 1 },
    ...{ invoiceDate: DATE, dueDate: DATE, supplier: '', netAmount: amount, grossAmount: amount },
    currency: { type: 'string', minLength: 3, maxLength: 3 },
  }),
  'zod receipt': zod({
    ...{ id: 'cuid2', storeName: '', date: 'date-time', total: n({ exclusiveMinimum: 0 }), tax: amount },
  }),
  'zod contract': zod({
    ...{ id: 'uuid', effectiveDate: DATE, expirationDate: DATE },
    ...{ counterparty: about('Company on the other side'), renewal: { type: 'boolean' } },
  }),
  'zod shipment': zod({
    ...{ trackingNumber: '', departureDate: 'date', arrivalDate: 'date', carrier: '' },
    weightKg: n({ minimum: 0.1 }),
  }),
  'zod contact': zod({
    ...{ name: '', phone: 'e164', postalCode: like('^\\d{5}$'), city: '' },
    country: { type: 'string', minLength: 2, maxLength: 2 },
  }),
  'zod booking': zod({
    ...{ checkIn: DATE, checkOut: DATE, guests: i({ minimum: 1, maximum: 8 }), pricePerNight: amount },
  }),
  'zod range': zod({
    ...{ minSalary: i({ minimum: 0 }), maxSalary: i({ minimum: 0 }), jobTitle: '', postedAt: 'date-time' },
  }),
  'zod token': zod({
    ...{ id: 'ulid', slug: like('^[a-z0-9-]+$'), createdAt: 'date-time', updatedAt: 'date-time' },
  }),
  'zod statement': zod({
    ...{ periodStart: 'date', periodEnd: 'date', openingBalance: n(), closingBalance: n() },
    accountNumber: like('^\\d{8,12}$'),
  }),
  'written invoice': written({
    number: about('Invoice number'),
    date: about('Invoice date, dd.mm.yyyy', { pattern: '^\\d{2}\\.\\d{2}\\.\\d{4}$' }),
    ...{ vendor: '', total: n(), vat_id: '' },
  }),
  'written receipt': written({
    ...{ shop: about('Name of the shop'), time: like('^\\d{2}:\\d{2}$'), amount: n() },
    items: { type: 'array', minItems: 1, maxItems: 2, items: written({ description: '', price: n() }) },
  }),
  'written contract': written({
    title: '',
    parties: { type: 'array', minItems: 2, maxItems: 2, items: about('Company name') },
    ...{ start: about('First day', { format: 'date' }), end: about('Last day', { format: 'date' }) },
  }),
  'written policy': written({
    ...{ policy_number: '', insured: about('Person insured'), from: 'date', to: 'date' },
    premium: n({ description: 'Yearly price' }),
  }),
  'written claim': written({
    ...{ claim_id: '', status: '', opened_at: 'date-time', closed_at: 'date-time', amount_paid: n() },
  }),
  'written letter': written({
    ...{ sender: '', recipient: '', subject: '', summary: '' },
    date: like('^\\d{4}-(0[1-9]|1[0-2])-([0-2]\\d|3[01])$'),
  }),
  'written meter': written({
    ...{ meter_number: '', reading_date: like('^\\d{8}$'), month: like('^\\d{4}-\\d{2}$') },
    ...{ consumption: amount, unit: '' },
  }),
}
