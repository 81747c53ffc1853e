-- A page view as a program hands it to stream:insert; what it does not say has a default.
return {
  name = "pageview",
  site_id = 3,
  hostname = "stats.copycat.fun",
  pathname = "/",
  user_id = 18167959095776540841ULL,
  session_id = 18173968599266389340ULL,
  timestamp = "2024-12-13 12:53:59",
  country_code = "TH",
  screen_size = "Mobile",
  operating_system = "iOS",
  operating_system_version = "17.5",
  browser = "Safari",
  browser_version = "17.5",
}
