// Opens the dashboard of a session in the MCP Inspector and prints what the page shows, as JSON.
// node open_dashboard.mjs INSPECTOR_URL SESSION_ID SCREENSHOT   (in .external/, where the packages are)
import chromium from "@sparticuz/chromium";
import { chromium as browsers } from "playwright-core";

const [url, session, screenshot] = process.argv.slice(2);
const browser = await browsers.launch({
  executablePath: await chromium.executablePath(),
  args: ["--no-sandbox", "--headless=shell", "--disable-gpu"],
});
const problems = [];
try {
  const page = await browser.newPage({ viewport: { width: 1500, height: 1500 } });
  page.setDefaultTimeout(30_000);
  page.on("pageerror", error => problems.push(error.message));
  page.on("console", message => {
    if (message.type() === "error" && !message.text().includes("net::ERR_")) problems.push(message.text().slice(-300));
  });
  await page.goto(url);
  await page.locator(".mantine-Switch-track").first().click();
  await page.getByText(/^Connected/).first().waitFor();  // "Disconnected" stands there before

  await page.getByText("Tools", { exact: true }).first().click();
  await page.getByText("Tools (").first().waitFor();
  const tools = await page.locator("body").innerText();

  await page.getByText("Apps", { exact: true }).first().click();
  await page.getByText("Show the dashboard", { exact: true }).first().click();
  await page.getByLabel(/session.?id/i).first().fill(session);
  await page.getByRole("button", { name: "Open App" }).click();
  let frame;
  for (let turn = 0; turn < 200 && !frame; turn++) {
    for (const candidate of page.frames())
      if (await candidate.locator("#sentence").count().catch(() => 0)) frame = candidate;
    await page.waitForTimeout(50);
  }
  await frame.locator("#status:not([hidden])").waitFor();
  await frame.locator("#frames:not([hidden]) canvas").waitFor();
  await frame.locator("#terms:not([hidden]) polyline").first().waitFor({ state: "attached" });  // a flat line has no height
  const shown = {
    tools,
    sentence: await frame.locator("#sentence").innerText(),
    status: await frame.locator("#status").innerText(),
    terms: await frame.locator("#terms polyline").count(),
    runs: await frame.locator("#returns polyline").count(),
    criteria: await frame.locator("#criteria").innerText(),
    note: await frame.locator("#note").innerText(),
    problems,
  };
  await page.screenshot({ path: screenshot });
  console.log(JSON.stringify(shown));
} finally {
  await browser.close();
}
