import { expect, test } from 'vitest'
import { broken } from '../proof.ts'
import { s6 } from './s6-connections.ts'

test('S6 connections that idle or wait keep nobody from being served', async () => {
  expect(broken(await s6.run('short', () => {}))).toEqual([])
})
