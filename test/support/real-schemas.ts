import type { JsonObject } from '../../src/core/json.ts'

type Fields = Readonly<Record<string, object>>

const s = (more: object = {}) => ({ type: 'string', ...more })
const n = (more: object = {}) => ({ type: 'number', ...more })
const i = (more: object = {}) => ({ type: 'integer', ...more })
const DATE = '^\\d{4}-\\d{2}-\\d{2}$'

/** As pydantic writes a model: a title for each field, snake_case, its own formats. */
const pydantic = (fields: Fields): JsonObject => {
  const titled = Object.entries(fields).map(([name, schema]) => {
    const title = name.replaceAll('_', ' ').replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase())
    return [name, { title, ...schema }]
  })
  return {
    properties: Object.fromEntries(titled),
    required: Object.keys(fields),
    title: 'Model',
    type: 'object',
  } as JsonObject
}

/** As zod-to-json-schema writes an object: camelCase, no further properties. */
const zod = (properties: Fields): JsonObject =>
  ({
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  }) as JsonObject

/** As people write a schema: descriptions, few keywords. */
const written = (properties: Fields): JsonObject =>
  ({ type: 'object', properties, required: Object.keys(properties) }) as JsonObject

const DECIMAL = '^(?!^[-+.]*$)[+-]?0*\\d*\\.?\\d*$'

/** Schemas of documents as three generators write them, by a title. */
export const REAL_SCHEMAS: Readonly<Record<string, JsonObject>> = {
  'pydantic invoice': pydantic({
    id: s({ format: 'uuid4' }),
    invoice_number: s(),
    invoice_date: s({ format: 'date' }),
    due_date: s({ format: 'date' }),
    vendor_name: s(),
    subtotal: n({ minimum: 0 }),
    tax_amount: n({ minimum: 0 }),
    total_amount: n({ minimum: 0 }),
    currency: s({ pattern: '^[A-Z]{3}$' }),
  }),
  'pydantic receipt': pydantic({
    merchant: s(),
    purchased_at: s({ format: 'date-time' }),
    total: s({ pattern: DECIMAL }),
    payment_method: s(),
    items_count: i({ exclusiveMinimum: 0 }),
  }),
  'pydantic contract': pydantic({
    contract_id: s({ format: 'uuid7' }),
    client: s(),
    start_date: s({ format: 'date' }),
    end_date: s({ format: 'date' }),
    value: n(),
    signed_by: s(),
  }),
  'pydantic drawing': pydantic({
    drawing_number: s(),
    revision: s({ pattern: '^[A-Z]$' }),
    scale: s({ pattern: '^1:\\d{1,3}$' }),
    width: n({ exclusiveMinimum: 0 }),
    height: n({ exclusiveMinimum: 0 }),
    material: s(),
  }),
  'pydantic payment': pydantic({
    iban: s({ minLength: 15, maxLength: 34 }),
    bic: s(),
    amount: n({ multipleOf: 0.01, minimum: 0 }),
    executed_on: s({ pattern: DATE }),
    reference: s(),
  }),
  'pydantic lease': pydantic({
    tenant: s(),
    landlord: s(),
    valid_from: s({ format: 'date' }),
    valid_until: s({ format: 'date' }),
    monthly_rent: n({ minimum: 0 }),
  }),
  'pydantic person': pydantic({
    first_name: s(),
    last_name: s(),
    email: s({ format: 'email' }),
    birth_date: s({ format: 'date' }),
    phone: s({ format: 'phone' }),
  }),
  'pydantic network': pydantic({
    host: s({ format: 'ipv4' }),
    network: s({ format: 'ipv4network' }),
    file: s({ format: 'file-path' }),
    contact: s({ format: 'name-email' }),
  }),
  'pydantic order': pydantic({
    order_id: s({ format: 'uuid1' }),
    order_date: s({ pattern: DATE }),
    delivery_date: s({ pattern: DATE }),
    customer: s(),
    quantity: i({ minimum: 1 }),
    unit_price: n({ minimum: 0 }),
  }),
  'pydantic timesheet': pydantic({
    employee: s(),
    start_time: s({ format: 'time' }),
    end_time: s({ format: 'time' }),
    hours: n({ minimum: 0, maximum: 24 }),
    project: s(),
  }),
  'zod invoice': zod({
    invoiceNumber: s({ minLength: 1 }),
    invoiceDate: s({ pattern: DATE }),
    dueDate: s({ pattern: DATE }),
    supplier: s(),
    netAmount: n({ minimum: 0 }),
    grossAmount: n({ minimum: 0 }),
    currency: s({ minLength: 3, maxLength: 3 }),
  }),
  'zod receipt': zod({
    id: s({ format: 'cuid2' }),
    storeName: s(),
    date: s({ format: 'date-time' }),
    total: n({ exclusiveMinimum: 0 }),
    tax: n({ minimum: 0 }),
  }),
  'zod contract': zod({
    id: s({ format: 'uuid' }),
    effectiveDate: s({ pattern: DATE }),
    expirationDate: s({ pattern: DATE }),
    counterparty: s({ description: 'Company on the other side' }),
    renewal: { type: 'boolean' },
  }),
  'zod drawing': zod({
    drawingNo: s(),
    sheet: i({ minimum: 1, maximum: 20 }),
    lengthMm: n({ exclusiveMinimum: 0 }),
    toleranceMin: n({ minimum: 0, maximum: 1 }),
    toleranceMax: n({ minimum: 0, maximum: 1 }),
    projectUrl: s({ format: 'uri' }),
  }),
  'zod shipment': zod({
    trackingNumber: s(),
    departureDate: s({ format: 'date' }),
    arrivalDate: s({ format: 'date' }),
    carrier: s(),
    weightKg: n({ minimum: 0.1 }),
  }),
  'zod contact': zod({
    name: s(),
    phone: s({ format: 'e164' }),
    postalCode: s({ pattern: '^\\d{5}$' }),
    city: s(),
    country: s({ minLength: 2, maxLength: 2 }),
  }),
  'zod booking': zod({
    checkIn: s({ pattern: DATE }),
    checkOut: s({ pattern: DATE }),
    guests: i({ minimum: 1, maximum: 8 }),
    pricePerNight: n({ minimum: 0 }),
  }),
  'zod range': zod({
    minSalary: i({ minimum: 0 }),
    maxSalary: i({ minimum: 0 }),
    jobTitle: s(),
    postedAt: s({ format: 'date-time' }),
  }),
  'zod token': zod({
    id: s({ format: 'ulid' }),
    slug: s({ pattern: '^[a-z0-9-]+$' }),
    createdAt: s({ format: 'date-time' }),
    updatedAt: s({ format: 'date-time' }),
  }),
  'zod statement': zod({
    periodStart: s({ format: 'date' }),
    periodEnd: s({ format: 'date' }),
    openingBalance: n(),
    closingBalance: n(),
    accountNumber: s({ pattern: '^\\d{8,12}$' }),
  }),
  'written invoice': written({
    number: s({ description: 'Invoice number' }),
    date: s({ description: 'Invoice date, dd.mm.yyyy', pattern: '^\\d{2}\\.\\d{2}\\.\\d{4}$' }),
    vendor: s(),
    total: n(),
    vat_id: s(),
  }),
  'written receipt': written({
    shop: s({ description: 'Name of the shop' }),
    time: s({ pattern: '^\\d{2}:\\d{2}$' }),
    amount: n(),
    items: { type: 'array', minItems: 1, maxItems: 2, items: written({ description: s(), price: n() }) },
  }),
  'written contract': written({
    title: s(),
    parties: { type: 'array', minItems: 2, maxItems: 2, items: s({ description: 'Company name' }) },
    start: s({ description: 'First day', format: 'date' }),
    end: s({ description: 'Last day', format: 'date' }),
  }),
  'written drawing': written({
    part_number: s(),
    title: s(),
    checked_by: s({ description: 'Person who checked it' }),
    checked_on: s({ pattern: '^\\d{2}/\\d{2}/\\d{4}$' }),
    weight: n(),
  }),
  'written policy': written({
    policy_number: s(),
    insured: s({ description: 'Person insured' }),
    from: s({ format: 'date' }),
    to: s({ format: 'date' }),
    premium: n({ description: 'Yearly price' }),
  }),
  'written claim': written({
    claim_id: s(),
    status: s(),
    opened_at: s({ format: 'date-time' }),
    closed_at: s({ format: 'date-time' }),
    amount_paid: n(),
  }),
  'written cv': written({
    full_name: s(),
    email: s(),
    city: s(),
    years_of_experience: i({ minimum: 0 }),
    job_title: s(),
  }),
  'written letter': written({
    sender: s(),
    recipient: s(),
    subject: s(),
    date: s({ pattern: '^\\d{4}-(0[1-9]|1[0-2])-([0-2]\\d|3[01])$' }),
    summary: s(),
  }),
  'written meter': written({
    meter_number: s(),
    reading_date: s({ pattern: '^\\d{8}$' }),
    month: s({ pattern: '^\\d{4}-\\d{2}$' }),
    consumption: n({ minimum: 0 }),
    unit: s(),
  }),
  'written page': written({
    language: s(),
    confidence: n({ minimum: 0, maximum: 1 }),
    page_count: i({ minimum: 1 }),
    file_name: s(),
    summary: s(),
  }),
}
