import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPage, listUsers } from './client.mjs'

test('creates a page', async () => {
  assert.equal((await createPage('Roof plan')).name, 'Roof plan')
})

test('lists all users', async () => {
  const users = await listUsers('teamspace-harbor')
  assert.equal(users.length, 23)
})
