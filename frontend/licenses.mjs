// Writes the licences of all packages that the pages are made of, as they must be shipped with them. Run after `npm ci`.
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const OUT = "../server/static/LICENSES.txt";
const RULE = "=".repeat(100);

function packages() {
  const listed = execFileSync("npm", ["ls", "--omit=dev", "--all", "--parseable"], { encoding: "utf8" });
  return [...new Set(listed.trim().split("\n").slice(1))].map((folder) => ({
    folder,
    facts: JSON.parse(readFileSync(join(folder, "package.json"), "utf8")),
  }));
}

function terms({ folder, facts }) {
  const files = readdirSync(folder).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name)).sort();
  if (files.length) return files.map((name) => readFileSync(join(folder, name), "utf8").trim()).join("\n\n");
  const author = typeof facts.author === "object" ? facts.author.name : facts.author;
  return `The package has no licence file. It declares the licence ${facts.license}${author ? `; its author is ${author}` : ""}.`;
}

const byTerms = new Map();
for (const found of packages()) {
  const text = terms(found).replace(/\r\n/g, "\n");
  const name = `${found.facts.name}@${found.facts.version} (${found.facts.license})`;
  byTerms.set(text, [...(byTerms.get(text) ?? []), name]);
}
const parts = [...byTerms].map(([text, names]) => [names.sort().join("\n"), text]).sort(([one], [other]) => (one < other ? -1 : 1));
const about = "The pages of Muniment contain code of these packages, under these licences.";
writeFileSync(OUT, `${about}\n\n${parts.map(([names, text]) => `${RULE}\n${names}\n${RULE}\n\n${text}\n`).join("\n")}`);
