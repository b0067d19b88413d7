import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { expect, onTestFinished, test } from 'vitest'
import { openDashboard } from './browser.ts'

test('the dashboard works at the path of a mounted router', async () => {
  const dashboard = await openDashboard()
  onTestFinished(() => dashboard.close())
  const app = express().use('/tools/emulator', dashboard.emulator.router())
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  onTestFinished(() => server.closeAllConnections())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/tools/emulator`
  const { page } = dashboard
  await page.goto(url)
  expect(page.url()).toBe(`${url}/__emulator/ui/`)
  await page.getByText('Waiting for your first request').waitFor()
  expect(await page.getByLabel('Base URL').inputValue()).toBe(`${url}/v1`)
  await fetch(`${url}/v1/data-views`, { headers: { authorization: 'Bearer live_demo_owner' } })
  await page.goto(`${url}/__emulator/ui/#/default/requests`)
  await page.getByRole('row', { name: /GET \/data-views 200/ }).click()
  await page.getByRole('heading', { name: '/tools/emulator/v1/data-views' }).waitFor()
})
