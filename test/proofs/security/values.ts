import { inHeader, judge, NAMES, own, type Trial } from './trial.ts'

const BATCH = {
  prompt: 'p',
  output_schema: { type: 'object', properties: {} },
  model: 'm',
  items: [{ file_id: 'file-1', custom_id: 'c' }],
}
/** Names as values and as keys of stored data. */
export async function asValues(trial: Trial): Promise<void> {
  for (const name of NAMES) {
    const json = { name }
    await judge(
      trial,
      `page name ${JSON.stringify(name)}`,
      () => trial.api('POST', '/pages', { json }),
      async ({ body }) => {
        const stored = await trial.control('GET', `/state/pages/${body.id}`)
        return body.name === name && stored.body.name === name
      },
    )
    const metadata = own(name, name)
    await judge(
      trial,
      `metadata key ${JSON.stringify(name)}`,
      () => trial.api('POST', '/batch-predictions', { json: { ...BATCH, metadata } }),
      async ({ body }) => {
        const again = await trial.api('GET', `/batch-predictions/${body.id}`)
        return [body, again.body].every((each) => JSON.stringify(each.metadata) === JSON.stringify(metadata))
      },
    )
    const items = [{ file_id: 'file-1', custom_id: name }]
    await judge(
      trial,
      `custom_id ${JSON.stringify(name)}`,
      () => trial.api('POST', '/batch-predictions', { json: { ...BATCH, items } }),
      async ({ body }) => {
        await trial.control('POST', `/batches/${body.id}/complete`)
        const { text } = await trial.api('GET', `/batch-predictions/${body.id}/results`)
        return (JSON.parse(text) as { custom_id: string }).custom_id === name
      },
    )
    const opaque = { ...own(name, { polluted: 'x4' }), other: own(name, name) }
    await judge(
      trial,
      `member ${JSON.stringify(name)} of a record kept as it came`,
      () => trial.api('POST', '/agents/agent-1/automations', { json: opaque }),
      async ({ body }) => {
        const again = await trial.api('GET', `/agents/agent-1/automations/${body.id}`)
        const { id: _, ...rest } = again.body as Record<string, unknown>
        return sameMembers(rest, opaque)
      },
    )
  }
}

// Compared without order, because the order of JSON fields has no meaning.
function sameMembers(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  const text = (object: Record<string, unknown>) =>
    JSON.stringify(Object.entries(object).sort(([x], [y]) => (x < y ? -1 : 1)))
  return text(a) === text(b)
}

/** Names as idempotency keys. */
export async function asIdempotencyKeys(trial: Trial): Promise<void> {
  const made = new Map<string, string>()
  for (const name of inHeader) {
    const headers = { 'idempotency-key': name }
    const create = () => trial.api('POST', '/batch-predictions', { json: BATCH, headers })
    await judge(trial, `Idempotency-Key ${name}`, create, async ({ body }) => {
      const again = await create()
      const isNew = ![...made.values()].includes(body.id)
      made.set(name, body.id)
      return isNew && again.body.id === body.id
    })
  }
}
