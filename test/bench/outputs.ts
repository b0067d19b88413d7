import { Agent } from 'node:http'
import { ask, median, type Running, scratch, shotAt, startOurs } from './servers.ts'

/**
 * `npm run bench:outputs`: the cost of outputs. 5,000 items from creation to the last result line, with the schema of an
 * invoice, as a ratio to `{"type": "object"}`. Rounds are interleaved, medians are compared.
 */
const SERVERS = 4
const ROUNDS = 8
const ITEMS = 5_000

const text = (more: object = {}) => ({ type: 'string', ...more })
const date = text({ format: 'date' })
const amount = { type: 'number', minimum: 0, multipleOf: 0.01 }
const address = {
  type: 'object',
  properties: {
    ...{ street: text(), city: text({ maxLength: 60 }), zip: text() },
    country_code: text({ pattern: '^[A-Z]{2}$' }),
  },
  required: ['street', 'city'],
  additionalProperties: false,
}

/** Forty fields, including those of the addresses and of a line. */
const INVOICE = {
  type: 'object',
  properties: {
    invoice_number: text({ description: 'As printed at the top' }),
    ...{ invoice_date: date, due_date: date, delivery_date: date, order_date: date },
    ...{ order_number: text(), contract_number: text(), customer_number: text() },
    vendor_name: text({ minLength: 1 }),
    vendor_address: address,
    ...{ vendor_email: text({ format: 'email' }), vendor_phone: text(), vendor_vat_id: text() },
    ...{ customer_name: text(), customer_address: address, contact_person: text() },
    ...{ iban: text(), bic: text(), bank_name: text(), payment_terms: text() },
    currency: { enum: ['EUR', 'USD', 'GBP'] },
    status: { type: 'string', enum: ['open', 'paid', 'overdue'] },
    ...{ subtotal: amount, tax: amount, shipping: amount, total: amount, balance_due: amount },
    ...{ tax_rate: { type: 'number', minimum: 0, maximum: 25 }, notes: text(), language: text() },
    is_credit_note: { type: 'boolean' },
    page_count: { type: 'integer', minimum: 1 },
  },
  required: ['invoice_number', 'invoice_date', 'vendor_name', 'total', 'currency'],
  additionalProperties: false,
}

const SCHEMAS = { plain: { type: 'object' }, invoice: INVOICE } as const
type Name = keyof typeof SCHEMAS
const NAMES = ['plain', 'invoice'] as const

const body = (output_schema: object): string =>
  JSON.stringify({
    ...{ prompt: 'Read the invoice.', output_schema, model: 'model-1', completion_window: '24h' },
    items: Array.from({ length: ITEMS }, (_, n) => ({ file_id: 'file-1', custom_id: `invoice-${n}` })),
  })
const BODIES: Record<Name, string> = { plain: body(SCHEMAS.plain), invoice: body(SCHEMAS.invoice) }

/** Milliseconds from the creation of a batch to its last result line: elapsed time, and processor time of the server. */
async function round(server: Running, name: Name): Promise<Cost> {
  const agent = new Agent({ keepAlive: true })
  const [begin, used] = [performance.now(), server.processor()]
  const send = (method: string, path: string, body?: string) => ask(shotAt(server, method, path, body), agent)
  const { id } = JSON.parse(await send('POST', '/v1/batch-predictions', BODIES[name])) as { id: string }
  await send('POST', '/__emulator/clock/advance', JSON.stringify({ until: { batch: id } }))
  const lines = await send('GET', `/v1/batch-predictions/${id}/results`)
  const cost = { clock: performance.now() - begin, processor: server.processor() - used }
  agent.destroy()
  if (lines.split('"succeeded"').length !== ITEMS + 1)
    throw new Error(`not every item of ${name} has an output`)
  return cost
}

type Cost = Record<'clock' | 'processor', number>

function say(what: string, costs: Record<Name, readonly Cost[]>, by: keyof Cost): void {
  const [invoice, plain] = [costs.invoice, costs.plain].map((list) => median(list.map((cost) => cost[by])))
  process.stdout.write(
    `${what.padEnd(34)} ${((invoice ?? 0) / (plain ?? 1)).toFixed(2)}x  (${invoice?.toFixed(0)} ms against ${plain?.toFixed(0)} ms)\n`,
  )
}

const first: Record<Name, Cost[]> = { plain: [], invoice: [] }
const warm: Record<Name, Cost[]> = { plain: [], invoice: [] }
for (let n = 0; n < SERVERS; n++) {
  // The first batch in a process also pays for compiling code, so the order alternates between servers.
  const order = n % 2 === 0 ? NAMES : [...NAMES].reverse()
  const server = await startOurs(scratch())
  for (let times = 0; times < ROUNDS; times++)
    for (const name of order) (times === 0 ? first : warm)[name].push(await round(server, name))
  await server.stop()
}
for (const by of ['clock', 'processor'] as const) {
  say(`first batch of a process, ${by}`, first, by)
  say(`later batches, ${by}`, warm, by)
}
