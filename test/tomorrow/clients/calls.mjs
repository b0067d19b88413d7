const { WORKSPACE_BASE_URL: base, WORKSPACE_API_KEY: key } = process.env

export const TEAMSPACE = 'teamspace-harbor'
export const SKILL = 'skill-takeoff'
export const BATCH = {
  prompt: 'Read the total.',
  output_schema: { type: 'object', properties: { total: { type: 'number' } } },
  model: 'any-model',
  items: [{ file_id: 'file-invoice-1', custom_id: 'a' }],
}

/** The JSON of a response, for clients that only check it. */
export async function send(path, json) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const init = json === undefined ? {} : { method: 'POST', body: JSON.stringify(json) }
  return (await fetch(base + path, { headers, ...init })).json()
}

/** The calls of a client that checks the JSON of responses. @param check throws if a response of an operation is refused */
export const checkedCalls = (check) => ({
  'pages.create': async () => check('pages.create', await send('/pages', { name: 'Plan' })),
  'teamspaces.create': async () =>
    check('teamspaces.create', await send('/organization/teamspaces', { name: 'Pier' })),
  'teamspace-users.list': async () =>
    check('teamspace-users.list', await send(`/organization/teamspaces/${TEAMSPACE}/users`)),
  'skills.promote': async () => check('skills.promote', await send(`/skills/${SKILL}/promote`, {})),
  'data-views.list': async () => check('data-views.list', await send('/data-views')),
  'batch-predictions.create': async () => {
    const batch = await send('/batch-predictions', BATCH)
    check('batch-predictions.create', batch)
    return batch
  },
  'batch-predictions.retrieve': async ({ id }) =>
    check('batch-predictions.retrieve', await send(`/batch-predictions/${id}`)),
})

/** Makes the calls, and prints why each failed; null for one that worked. */
export async function report(calls) {
  const results = {}
  // A client whose create failed cannot know the batch.
  let batch = await send('/batch-predictions', BATCH)
  for (const [name, call] of Object.entries(calls)) {
    try {
      const value = await call(batch)
      results[name] = null
      if (name === 'batch-predictions.create') batch = value
    } catch (error) {
      results[name] = String(error.message ?? error).slice(0, 300)
    }
  }
  console.log(JSON.stringify(results))
}
