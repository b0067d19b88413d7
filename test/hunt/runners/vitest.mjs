import { expect, test } from 'vitest'
import { createPage, listUsers } from './client.mjs'

test('creates a page', async () => {
  await expect(createPage('Roof plan')).resolves.toMatchObject({ name: 'Roof plan' })
}, 60_000)

test('lists all users', async () => {
  const users = await listUsers('teamspace-harbor')
  expect(users).toHaveLength(23)
}, 60_000)
