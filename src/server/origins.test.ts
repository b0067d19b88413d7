import { expect, test } from 'vitest'
import { isOrigin } from './origins.ts'

test.for([
  ...['http://localhost:5173', 'https://app.example', 'http://tauri.localhost', 'http://[::1]'],
  ...['capacitor://localhost', 'tauri://localhost', 'chrome-extension://abcdef', 'app://local:8080'],
])('%s is an origin', (text) => {
  expect(isOrigin(text)).toBe(true)
})

test.for([
  ...['https://app.example/', 'https://app.example:443', 'https://APP.example', 'app.example', 'null', '*'],
  ...['https://*.app.example', 'capacitor://*', 'capacitor://localhost/', 'file://localhost'],
  ...['data:text/html,x', ''],
])('%j is no origin of one server', (text) => {
  expect(isOrigin(text)).toBe(false)
})
