import { expect, test } from 'vitest'
import { webhookReceiver } from '../support/webhook-receiver.ts'
import { bothWays, createBatch } from './both-ways.ts'

const { ways } = bothWays()

test.for(ways)('%s: a webhook is delivered during an advance, and again on redeliver', async ([, client]) => {
  const { url, received } = await webhookReceiver()
  await using sandbox = await client().sandbox()
  const { webhooks } = sandbox
  const created = await webhooks.create({ url, events: ['batch_prediction.completed'], secret: 'hush' })
  expect(created).toMatchObject({ url, events: ['batch_prediction.completed'], has_secret: true })
  expect(await webhooks.list()).toEqual([created])
  const batch = await createBatch(sandbox)
  await sandbox.clock.advance({ until: { batch } })
  const [delivery] = await webhooks.deliveries()
  expect(delivery).toMatchObject({
    webhook_id: created.id,
    status: 'delivered',
    attempts: [{ status: 200 }],
  })
  expect(await webhooks.redeliver(delivery?.id ?? '')).toMatchObject({ id: delivery?.id })
  await sandbox.clock.advance('1s')
  expect(received.map(({ body }) => body)).toEqual([delivery?.body, delivery?.body])
  await webhooks.delete(created.id ?? '')
  await webhooks.create({ url })
  await webhooks.clear()
  expect(await webhooks.list()).toEqual([])
})

test.for(ways)('%s: a provider event starts runs of agents', async ([, client]) => {
  await using sandbox = await client().sandbox()
  const emitted = await sandbox.agents.emit({
    source: 'document_collaboration',
    event: 'Drawing:revised',
    payload: { drawing: 'A-1' },
  })
  expect(emitted).toMatchObject({ object: 'provider_event', fired: [{ agent_id: 'agent-estimator' }] })
  const runs = await sandbox.agents.runs()
  const [run] = emitted.fired
  expect(runs).toContainEqual(
    expect.objectContaining({ id: run?.run_id, status: 'queued', payload: { drawing: 'A-1' } }),
  )
  expect(await sandbox.agents.threads()).toContainEqual({ thread_id: run?.thread_id, runs: [run?.run_id] })
})

test.for(ways)('%s: an OAuth flow starts outside the API and is completed through it', async ([, client]) => {
  await using sandbox = await client().sandbox()
  const redirect_uri = 'http://localhost:3000/oauth/callback'
  const flow = await sandbox.mcpServers.startOauth({ server_id: 'mcp-weather', redirect_uri })
  const { code, state } = flow
  const path = '/organization/mcp-servers/mcp-weather/oauth-callback'
  const response = await sandbox.fetch(path, { json: { code, state, redirect_uri } })
  expect(await response.json()).toMatchObject({ oauth_configured: true })
})

test.for(ways)('%s: a user can join an open teamspace, but not a closed one', async ([, client]) => {
  await using sandbox = await client().sandbox()
  expect(await sandbox.teamspaces.join('teamspace-depot', 'user-jonas')).toMatchObject({
    user_id: 'user-jonas',
    role: 'member',
    self_joined: true,
  })
  expect(await sandbox.teamspaces.join('teamspace-depot', 'user-ines', 'guest')).toMatchObject({
    role: 'guest',
  })
  const refused = sandbox.teamspaces.join('teamspace-harbor', 'user-priya')
  await expect(refused).rejects.toMatchObject({ status: 409, code: 'conflict' })
})

test.for(ways)('%s: a connection can be shown with its status', async ([, client]) => {
  await using sandbox = await client().sandbox()
  await sandbox.fetch('/connections', { json: { connector_id: 'c1' } })
  const data = await sandbox.state.list<{ id: string }>('connections')
  const id = data[0]?.id ?? ''
  expect(await sandbox.connections.show(id)).toMatchObject({ id, connector_id: 'c1', status: 'pending' })
})

test.for(ways)('%s: limits can be listed, set and filled', async ([, client]) => {
  await using sandbox = await client().sandbox()
  const { limits } = sandbox
  expect(await limits.set('pages.create', { limit: 5 })).toMatchObject([
    { operation: 'pages.create', limit: 5, window_s: 60 },
  ])
  const filled = await limits.fill('pages.create', { remaining: 0, teamspace_id: 'teamspace-harbor' })
  expect(filled).toMatchObject([{ operation: 'pages.create', used: 5, remaining: 0 }])
  expect((await sandbox.fetch('/pages', { json: { name: 'x' } })).status).toBe(429)
  expect(await limits.list()).toHaveLength(1)
  expect(await limits.show()).toMatchObject({ overrides: [{}], enforced: true, clock: 'virtual' })
})

test.for(ways)('%s: settings can be shown and changed, and the assumptions list them', async ([, client]) => {
  await using sandbox = await client().sandbox()
  const { settings } = sandbox
  const changed = await settings.change({ 'success.create': 202, 'names.cloud_a': 'north' })
  expect(changed.overrides).toEqual({ 'success.create': 202, 'names.cloud_a': 'north' })
  expect((await settings.show()).values).toMatchObject({ 'success.create': 202 })
  expect((await settings.change({ 'success.create': null })).overrides).toEqual({
    'names.cloud_a': 'north',
  })
  const assumptions = await settings.assumptions()
  const clouds = assumptions.find(({ id }) => id === 'U009')
  expect(clouds?.settings).toContainEqual(expect.objectContaining({ key: 'names.cloud_a', value: 'north' }))
})
