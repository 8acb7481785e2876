// The caller's side: HttpClient::start and the exchange that it returns.
#include <algorithm>
#include <array>
#include <utility>

#include "host/os/desk_path.hpp"
#include "host/os/http_client_impl.hpp"

namespace daybook {
namespace {

class Exchange final : public HttpExchange {
  public:
    Exchange(std::shared_ptr<HttpFlow> flow, std::function<void()> look)
        : flow_(std::move(flow)), look_(std::move(look)) {}
    ~Exchange() override { Exchange::cancel(); }
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;
    Exchange(Exchange&&) = delete;
    Exchange& operator=(Exchange&&) = delete;

    [[nodiscard]] std::optional<Result<HttpHead>> head() const override { return flow_->head(); }
    std::optional<Result<std::string>> take(std::size_t max) override {
        bool resumes = false;
        auto taken = flow_->take(max, resumes);
        if (resumes) {
            look_();
        }
        return taken;
    }
    Result<bool> offer(std::string_view bytes, bool last) override {
        bool resumes = false;
        auto offered = flow_->offer(bytes, last, resumes);
        if (resumes) {
            look_();
        }
        return offered;
    }
    void cancel() override {
        if (!flow_->is_cancelled()) {
            flow_->cancel();
            look_();
        }
    }

  private:
    std::shared_ptr<HttpFlow> flow_;
    std::function<void()> look_;
};

}  // namespace

HttpClient::HttpClient(IoLoop& loop, std::filesystem::path authorities)
    : impl_(std::make_shared<Impl>(loop, std::move(authorities))) {}

HttpClient::~HttpClient() {
    impl_->close();
}

std::size_t HttpClient::running() const {
    return impl_->out.load();
}

Result<std::unique_ptr<HttpExchange>> HttpClient::start(HttpRequest request,
                                                        std::function<void()> on_change) {
    constexpr std::array<std::string_view, 6> kMethods{
        "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"};
    if (std::find(kMethods.begin(), kMethods.end(), request.method) == kMethods.end()) {
        return Error(Errc::invalid,
                     "method \"" + printable(request.method, 20) +
                         "\": expected GET, HEAD, POST, PUT, PATCH or DELETE");
    }
    const bool takes_body = request.method.starts_with('P');
    if (!takes_body && (!request.body.empty() || request.body_follows)) {
        return Error(Errc::invalid, request.method + " takes no body");
    }
    auto origin = origin_of(request.url);
    if (!origin) {
        return origin.error();
    }
    auto transfer = std::make_unique<HttpTransfer>();
    transfer->request = std::move(request);
    const auto& approved = transfer->request.approved;
    const auto found = std::find_if(
        approved.begin(), approved.end(), [&](const auto& to) { return to.origin == *origin; });
    if (found == approved.end()) {
        std::string names;
        for (const HttpDestination& to : approved) {
            names += (names.empty() ? "" : ", ") + to.origin.str();
        }
        return Error(Errc::refused,
                     origin->str() + " is not an approved origin (approved: " +
                         (names.empty() ? "none" : names) + ")");
    }
    if (origin->is_plain() && !origin->names_loopback() && !found->private_network) {
        return Error(Errc::refused,
                     origin->str() +
                         ": plain http goes to this machine only: use https, or say "
                         "private_network = true beside the address");
    }
    if (++impl_->out > kMaxExchanges) {
        --impl_->out;
        return Error(Errc::busy,
                     std::to_string(kMaxExchanges) + " requests are out already on this host");
    }
    transfer->id = impl_->next_id++;
    transfer->to = &*found;
    transfer->url = transfer->request.url;
    transfer->method = transfer->request.method;
    transfer->flow = std::make_shared<HttpFlow>(transfer->request, std::move(on_change));
    auto look = [weak = std::weak_ptr(impl_), id = transfer->id] {
        if (const auto self = weak.lock()) {
            self->loop.post(self->guarded([id](Impl& impl) { impl.look(id); }));
        }
    };
    auto exchange = std::make_unique<Exchange>(transfer->flow, std::move(look));
    auto held = std::make_shared<std::unique_ptr<HttpTransfer>>(std::move(transfer));
    impl_->loop.post(impl_->guarded([held](Impl& impl) { impl.add(std::move(*held)); }));
    return std::unique_ptr<HttpExchange>(std::move(exchange));
}

}  // namespace daybook
