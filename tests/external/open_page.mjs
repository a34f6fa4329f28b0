// Opens an HTML file as a person would, wide and on a phone, in light and dark, and prints what happened, as JSON.
// node open_page.mjs FILE SCREENSHOTS   (in .external/, where the packages are)
import chromium from "@sparticuz/chromium";
import { chromium as browsers } from "playwright-core";

const [file, screenshots] = process.argv.slice(2);
const browser = await browsers.launch({
  executablePath: await chromium.executablePath(),
  args: ["--no-sandbox", "--headless=shell", "--disable-gpu"],
});
const shown = {};
try {
  for (const width of [1200, 390])
    for (const colorScheme of ["light", "dark"]) {
      const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
      const requests = [], problems = [];
      page.on("request", request => { if (!request.url().startsWith("data:")) requests.push(request.url()); });
      page.on("pageerror", error => problems.push(error.message));
      page.on("console", message => { if (message.type() === "error") problems.push(message.text().slice(0, 300)); });
      await page.goto(`file://${file}`);
      const duration = await page.evaluate(async () => {
        const video = document.querySelector("video");
        await new Promise(done => { video.onloadedmetadata = video.onerror = done; video.load(); });
        return video.duration;
      });
      await page.locator("#show-failed").check();
      const failed = await page.locator("article:visible").count();
      await page.locator("#show-all").check();
      shown[`${width} ${colorScheme}`] = {
        requests, problems, duration, failed,
        cases: await page.locator("article:visible").count(),
        overflow: await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth),
        paper: await page.evaluate(() => getComputedStyle(document.body).backgroundColor),
      };
      await page.screenshot({ path: `${screenshots}/page_${width}_${colorScheme}.png`, fullPage: true });
      await page.close();
    }
} finally {
  await browser.close();
}
console.log(JSON.stringify(shown));
